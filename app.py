"""The app: `streamlit run app.py`."""

import streamlit as st

st.set_page_config(page_title="Private deep learning, explored", page_icon="🛡️", layout="wide")
page = st.navigation(
    [
        # Each url_path differs from its file name: otherwise a cold server may serve the file without this script.
        st.Page(
            "pages/accountants.py", title="Accountants", icon=":material/ssid_chart:", url_path="home", default=True
        ),
    ],
    position="top",
)
page.run()
